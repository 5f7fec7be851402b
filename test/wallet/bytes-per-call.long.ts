import { bytesPerCall } from './bytes-per-call.ts'

bytesPerCall([
  { billing: 'cost', clients: 64, calls: 1500 },
  { billing: 'cost', clients: 16, calls: 800 },
])
