// A process that logs what JSON carries and what it does not, with secrets in it.

import { createLog } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'

const log = createLog({ level: 'info', secrets: () => ['team-secret'] })
const circular: Record<string, unknown> = { big: 1n, secret: 'team-secret' }
circular.self = circular

log.child({ tool: 'x' }).warn('got team-secret', { n: 1 })
log.error('failed', { err: new GazewayError('store_full', 'The disk is full.', { cause: new Error('ENOSPC') }) })
log.info('odd', circular)
