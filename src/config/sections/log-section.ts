import * as z from 'zod'
import { section } from './section.ts'

/** Logging. */
export const logSection = section(() => ({
  level: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info').meta({
    variable: 'GAZEWAY_LOG_LEVEL',
    flag: '--log-level',
    description: 'Minimum level of log lines on stderr.',
  }),
}))
