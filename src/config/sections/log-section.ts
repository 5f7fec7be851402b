import * as z from 'zod'

/** Logging. */
export const Log = z.strictObject({
  level: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info').meta({
    variable: 'GAZEWAY_LOG_LEVEL',
    flag: '--log-level',
    description: 'Minimum level of log lines on stderr.',
  }),
})
