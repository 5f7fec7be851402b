import './exact.css'

/** Decimals of a micro-dollar. */
const DECIMALS = 6

/** Formats an amount with all its decimals, as in bills: `$0.833334`. @param least decimals, also where they are zero */
export function exactUsd(usd: number, least = 2): string {
  const size = Math.abs(usd).toLocaleString('en', { minimumFractionDigits: least, maximumFractionDigits: DECIMALS })
  return `${usd < 0 ? '−' : ''}$${size}`
}

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
    <span
      class={comesIn ? 'money-in' : undefined}
    >{`${comesIn ? '+' : ''}${exactUsd(usd, aligned ? DECIMALS : 2)}`}</span>
  )
}
