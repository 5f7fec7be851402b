import './exact.css'

const exact = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 })

/** Formats an amount with all its decimals, as in bills: `$0.833334`. */
export const exactUsd = (usd: number): string => `${usd < 0 ? '−' : ''}$${exact.format(Math.abs(usd))}`

/** Amount with all its decimals. @param signed shows a plus before income */
export function Exact({ usd, signed = false }: { usd: number; signed?: boolean }) {
  const comesIn = signed && usd > 0
  return <span class={comesIn ? 'money-in' : undefined}>{`${comesIn ? '+' : ''}${exactUsd(usd)}`}</span>
}
