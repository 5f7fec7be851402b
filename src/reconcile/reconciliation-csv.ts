import { csvLine } from '../store/csv.ts'
import type { BilledPart, Comparison, CountedPart } from './compare-bill.ts'
import type { Reconciliation } from './reconcile.ts'

const COLUMNS = [
  'day',
  'upstream',
  'provider_key',
  'model',
  'what',
  'key',
  'key_name',
  'calls',
  'prompt_tokens',
  'completion_tokens',
  'usd',
  'why',
]

/**
 * Writes a reconciliation as CSV (RFC 4180). For each day, key of the provider and model there is a line for each key on the bill (`billed`,
 * or `elsewhere` for keys that Gazeway does not have), one for each key of Gazeway (`counted`), and one for the
 * difference of the two.
 */
export function reconciliationCsv({ accounts }: Reconciliation): string {
  const lines = accounts.flatMap(({ upstreams, days }) => days.flatMap((day) => linesOf(upstreams.join(' '), day)))
  return [COLUMNS, ...lines].map(csvLine).join('')
}

function linesOf(
  upstream: string,
  { day, provider_key, model, billed, counted, ...of }: Comparison,
): (string | number)[][] {
  const headOf = (key: string | null) => [day, upstream, key ?? '', model]
  const why = [...of.reasons.map(({ reason }) => reason), ...(of.is_explained ? [] : ['unexplained'])].join(' ')
  return [
    ...billed.map((part: BilledPart) => [
      ...headOf(provider_key),
      part.is_ours === false ? 'elsewhere' : 'billed',
      part.key ?? '',
      part.name ?? '',
      part.requests,
      part.prompt_tokens,
      part.completion_tokens,
      part.usd,
      '',
    ]),
    ...counted.map((part: CountedPart) => [
      ...headOf(part.provider_key),
      'counted',
      part.caller_id ?? '',
      '',
      part.calls,
      part.prompt_tokens,
      part.completion_tokens,
      part.usd,
      '',
    ]),
    [...headOf(provider_key), 'difference', '', '', '', '', '', of.difference_usd, why],
  ]
}
