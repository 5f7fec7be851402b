import './exact.css'

const exact = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 })

/** `$0.833334`: an amount with every decimal that it has, as bills have it. */
export const exactUsd = (usd: number): string => `${usd < 0 ? '−' : ''}$${exact.format(Math.abs(usd))}`

/** An amount with every decimal that it has. @param signed shows what comes in with a plus */
export function Exact({ usd, signed = false }: { usd: number; signed?: boolean }) {
  const comesIn = signed && usd > 0
  return <span class={comesIn ? 'money-in' : undefined}>{`${comesIn ? '+' : ''}${exactUsd(usd)}`}</span>
}
