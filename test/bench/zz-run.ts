import { createReport } from './report.ts'
import { section } from './zz-store.ts'
const r = createReport(); await section(r); console.log(r.table())
