import { Counter, type Registry } from 'prom-client'
import { toUsd } from '../../src/text/money.ts'
import type { Overrun } from '../../src/wallet/budget/overruns.ts'

/** Counts charged calls whose cost exceeded their reservation, and the cost that is not charged. */
export function overrunMetrics(registry: Registry): (overrun: Overrun) => void {
  const registers = [registry]
  const overruns = new Counter({
    name: 'gazeway_charge_overruns_total',
    help: 'Charged calls whose reported cost exceeded their reservation.',
    registers,
  })
  const uncharged = new Counter({
    name: 'gazeway_charge_overrun_usd_total',
    help: 'Reported cost above reservations in US dollars, which is not charged.',
    registers,
  })
  return ({ reservedMicros, costMicros }) => {
    overruns.inc()
    uncharged.inc(toUsd(costMicros - reservedMicros))
  }
}
