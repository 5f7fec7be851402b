// A process that logs to its real stderr: `log-lines.ts COUNT`, and then says on stdout that it is still there. It logs one
// more line once it hears something on stdin.
import { createLog } from '../../src/config/log.ts'

const log = createLog({ level: 'info', secrets: () => ['team-secret'] })
for (let n = 0; n < Number(process.argv[2]); n++) log.info(`line ${n} of team-secret`)
process.stdout.write('still here\n')
process.stdin.once('data', () => {
  log.info('the last')
  process.exit(0)
})
process.stdin.once('end', () => process.exit(0))
