const exact = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 })

/** An amount with every decimal that it has, as bills have it. @param signed shows what comes in with a plus */
export function Exact({ usd, signed = false }: { usd: number; signed?: boolean }) {
  const sign = usd < 0 ? '−' : signed && usd > 0 ? '+' : ''
  return <span class={usd > 0 && signed ? 'money-in' : ''}>{`${sign}$${exact.format(Math.abs(usd))}`}</span>
}
