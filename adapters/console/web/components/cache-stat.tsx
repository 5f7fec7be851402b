import type { CacheSums } from '../../../../src/calls/call-cache.ts'
import { percent, usd } from '../format.ts'
import { Stat } from './content.ts'

/** Share of input that prompt caches had, with the money that this saved, and what was missed. */
export function CacheStat(props: { of: CacheSums; label: string; href: string }) {
  const { of, label, href } = props
  const { hit_rate, saved_usd, missed_usd } = of
  const missed = missed_usd > 0 ? `, ${usd(missed_usd)} missed` : ''
  return (
    <Stat
      label={label}
      href={href}
      value={hit_rate === null ? '—' : percent(hit_rate)}
      hint={hit_rate === null ? 'no input' : `of input; ${usd(saved_usd)} saved${missed}`}
    />
  )
}
