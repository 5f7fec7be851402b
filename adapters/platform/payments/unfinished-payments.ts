import type { Gateway } from '../../../src/gateway.ts'
import { lazily } from '../../../src/lazily.ts'
import type { Payments } from '../../../src/payments/payments.ts'
import { anyUnfinished, UNFINISHED_MS } from '../../../src/payments/unfinished.ts'
import type { Sweep } from '../../../src/store/sweeps.ts'

const loadOpening = lazily(() => import('./open-payments.ts'))

/**
 * Creates the sweep that credits payments begun before payments were disabled. Loads the payment code only if there are
 * any.
 */
export function unfinishedPayments(gateway: Gateway): Sweep {
  let opened: Pick<Payments, 'sweep'> | undefined
  return {
    name: 'payments.unfinished',
    everyMs: UNFINISHED_MS,
    async batch(limit) {
      if (!(await anyUnfinished(gateway.store))) return 0
      opened ??= await (await loadOpening()).openUnfinished(gateway)
      return opened.sweep(limit)
    },
  }
}
