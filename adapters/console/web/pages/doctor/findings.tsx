import type { Findings } from '../../../../platform/routes/doctor-routes.ts'
import { PATIENT_MS } from '../../api.ts'
import { Badge, type Tone } from '../../components/content.ts'
import { href } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { taskOf } from '../settings/setting-tasks.ts'
import './doctor.css'

/** Finding of a check. */
export type FindingOf = Findings['items'][number]

/** Interval of the checks while a page with them is open, in milliseconds, and greatest age of those that others began, in seconds. */
const EVERY_MS = 600_000
const MAX_AGE = 600

const TONES: Readonly<Record<FindingOf['verdict'], { tone: Tone; word: string }>> = {
  ok: { tone: 'good', word: 'ok' },
  warn: { tone: 'warn', word: 'look at it' },
  fail: { tone: 'bad', word: 'fails' },
}

/**
 * Reads the findings of the last minutes, or runs the checks, and finds those of a setting.
 *
 * @param maxAge greatest age of findings in seconds; 0 runs the checks
 */
export function useDoctor(isAdmin = true, maxAge = MAX_AGE) {
  const path = `/api/doctor?max_age=${maxAge}`
  const live = useLive<Findings>(isAdmin ? path : null, { everyMs: EVERY_MS, timeoutMs: PATIENT_MS })
  const found = (live.data?.items ?? []).filter(({ settings }) => settings !== null)
  const isAt = (at: string, key: string) => at === key || at.startsWith(`${key}.`)
  return {
    ...live,
    /** Findings about a setting, or an entry of it. */
    beside: (key: string) => found.filter(({ settings }) => isAt(settings as string, key)),
    /** Findings about a section as a whole, which stand beside none of its settings. */
    about: (section: string, settings: readonly { key: string }[]) =>
      found.filter(
        ({ settings: at }) => isAt(at as string, section) && !settings.some(({ key }) => isAt(at as string, key)),
      ),
  }
}

/** Verdict of a finding, in a word. */
export function VerdictBadge({ verdict }: Pick<FindingOf, 'verdict'>) {
  const { tone, word } = TONES[verdict]
  return <Badge tone={tone}>{word}</Badge>
}

/** Findings beside what they are about. */
export function FindingNote({ of }: { of: readonly FindingOf[] }) {
  return (
    <>
      {of.map(({ name, verdict, text }) => (
        <span key={name} class="finding hint">
          <VerdictBadge verdict={verdict} /> {name}: {text}
        </span>
      ))}
    </>
  )
}

/** Pages that mend what checks without a setting find. */
const MENDED_AT: Readonly<Record<string, [words: string, address: string]>> = {
  ledger: ['Look at the ledger', href('wallet', { id: 'ledger' })],
  presumed: ['Look at the keys', href('keys')],
  facts: ['Look at the upstreams', href('upstreams')],
  bills: ['Look at the usage', href('usage')],
}

/** The link to what mends a finding. Null where no page does. */
export function mendOf({ name, settings }: FindingOf): [words: string, address: string] | null {
  if (settings?.startsWith('upstreams.'))
    return ['Edit the upstream', href('upstreams', { id: settings.slice('upstreams.'.length) })]
  if (settings !== null) return ['Open its settings', href('settings', { id: taskOf(settings) })]
  return MENDED_AT[name] ?? null
}
