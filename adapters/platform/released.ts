import * as z from 'zod'

/** Reply to a release of presumed spending. */
export const Released = z.object({ released_usd: z.number().describe('Amount that the budgets have again') })
