import * as z from 'zod'
import { section } from './section.ts'

/** Settings of the log on stderr. */
export const logSection = section(() => ({
  level: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info').meta({
    variable: 'GAZEWAY_LOG_LEVEL',
    flag: '--log-level',
    description: 'Minimum level of log lines on stderr.',
  }),
}))
