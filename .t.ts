import { createReport } from './bench/report.ts'
import { section } from './bench/retrieval-context.ts'
const report = createReport(); await section(report); process.stdout.write(report.table() + '\n'); process.exit(0)
