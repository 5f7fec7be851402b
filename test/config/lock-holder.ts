// A process that has the lock of a configuration file for ten minutes, or until it is killed: `lock-holder.ts FILE`. Prints a
// line once it has it.
import { lockFile } from '../../src/store/sqlite/process-lock.ts'

const [file = ''] = process.argv.slice(2)
const lock = lockFile(`${file}-lock`)
if (lock === null) throw new Error(`${file} is locked`)
process.stdout.write('locked\n')
// Its connection would be closed once nothing refers to it.
setTimeout(() => lock.release(), 600_000)
