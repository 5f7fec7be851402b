import { usdExact } from '../format.ts'
import './exact.css'

/**
 * Amount with all its decimals.
 *
 * @param signed shows a plus before income
 * @param aligned shows six decimals, as the other amounts of its column
 */
export function Exact(props: { usd: number; signed?: boolean; aligned?: boolean }) {
  const { usd, signed = false, aligned = false } = props
  const comesIn = signed && usd > 0
  return (
    <span class={comesIn ? 'money-in' : undefined}>{`${comesIn ? '+' : ''}${usdExact(usd, aligned ? 6 : 2)}`}</span>
  )
}
