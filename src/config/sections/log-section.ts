import { z } from 'zod'

/** What is logged. */
export const Log = z.strictObject({
  level: z
    .enum(['silent', 'error', 'warn', 'info', 'debug'])
    .default('info')
    .describe('The least important kind of line that is logged to stderr.'),
})
