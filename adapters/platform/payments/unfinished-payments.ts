import type { Gateway } from '../../../src/gateway.ts'
import type { Payments } from '../../../src/payments/payments.ts'
import { anyUnfinished, UNFINISHED_MS } from '../../../src/payments/unfinished.ts'
import type { Sweep } from '../../../src/store/sweeps.ts'

/** Credits payments that were begun before they were switched off. What does so is loaded for them alone. */
export function unfinishedPayments(gateway: Gateway): Sweep {
  let opened: Promise<Pick<Payments, 'sweep'>> | undefined
  return {
    name: 'payments.unfinished',
    everyMs: UNFINISHED_MS,
    async batch(limit) {
      if (!(await anyUnfinished(gateway.store))) return 0
      opened ??= import('./open-payments.ts').then(({ openUnfinished }) => openUnfinished(gateway))
      return (await opened).sweep(limit)
    },
  }
}
