import { bytesPerCall } from './bytes-per-call.ts'

bytesPerCall([
  { billing: 'cost', clients: 64, calls: 800 },
  { billing: 'recorded', clients: 64, calls: 800 },
])
