import * as z from 'zod'
import type { Gateway } from '../../../src/gateway.ts'
import { GroupId, unknownGroup } from '../../../src/identity/groups.ts'
import { KeyId, unknownKey } from '../../../src/identity/keys.ts'
import { toUsd } from '../../../src/text/money.ts'
import { callerOf, type FrameContext } from '../../web/frame-context.ts'
import { defineRoute, type Route } from '../define-route.ts'

const DESCRIPTION =
  'As much of its usage beyond reservations as its budgets did not hold counts in none of them any more. What was spent ' +
  'and charged stays. A debt of credit ends with a deposit.'

const Forgiven = z.object({
  id: z.string(),
  forgiven_usd: z.number().describe('The largest debt of its budgets; 0 when there was none'),
})

/** Routes that forgive the debts of budgets, for admins. */
export function forgiveRoutes({ keys, groups, wallet, log }: Gateway): Route[] {
  async function forgive(id: string, c: FrameContext): Promise<z.infer<typeof Forgiven>> {
    const forgiven_usd = toUsd(await wallet.forgive(id))
    log.info('Debt forgiven.', { by: callerOf(c).id, owner: id, forgiven_usd })
    return { id, forgiven_usd }
  }

  return [
    defineRoute('POST /api/keys/{id}/forgive', {
      operation: 'forgiveKeyDebt',
      summary: 'Forgive the debts of the budgets of a key',
      description: DESCRIPTION,
      access: 'admin',
      params: z.strictObject({ id: KeyId }),
      reply: Forgiven,
      async run({ params: { id }, c }) {
        if ((await keys.find(id)) === null) throw unknownKey()
        return forgive(id, c)
      },
    }),
    defineRoute('POST /api/groups/{id}/forgive', {
      operation: 'forgiveGroupDebt',
      summary: 'Forgive the debts of the budgets of a group',
      description: DESCRIPTION,
      access: 'admin',
      params: z.strictObject({ id: GroupId }),
      reply: Forgiven,
      async run({ params: { id }, c }) {
        if ((await groups.find(id)) === null) throw unknownGroup('id')
        return forgive(id, c)
      },
    }),
  ]
}
