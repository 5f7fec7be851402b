// A process that logs to its real stderr: `log-lines.ts COUNT`, and then says on stdout that it is still there.
import { createLog } from '../../src/log.ts'

const log = createLog({ level: 'info', secrets: () => ['team-secret'] })
for (let n = 0; n < Number(process.argv[2]); n++) log.info(`line ${n} of team-secret`)
process.stdout.write('still here\n', () => process.exit(0))
