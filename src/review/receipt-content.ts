import type { ReviewRow } from '../store/tables/reviews-tables.ts'
import { missedCanary, passedChecks } from './checks.ts'
import { fileKindOf } from './file-kind.ts'
import type { ReadSoFar } from './reading-so-far.ts'
import { changeOf, checksOf, type DecideReview } from './review-record.ts'
import type { Review } from './statement.ts'

/** Name of gateways in receipts; the key says which one it is. */
const OBSERVER = 'gazeway'

/** Composes the content of a receipt. */
export function reviewOf(of: {
  row: ReviewRow
  input: DecideReview
  read: ReadSoFar
  at: string
  keyid: string
}): Review {
  const { row, input, read } = of
  const { reading, assessment, elsewhere, counted } = read
  const { parts, active_ms, level } = reading
  const hunks = parts.map(({ digest, path, lines, seen, seen_ms }) => ({ digest, path, lines, seen, seen_ms }))
  const [lines, seen] = [sum(hunks.map((hunk) => hunk.lines)), sum(hunks.map((hunk) => hunk.seen))]
  const checks = checksOf(row)
  return {
    reviewer: { id: input.reviewer },
    decision: input.decision,
    ...(input.comments.length > 0 && { comments: input.comments }),
    repository: row.repository,
    base: changeOf(row).base,
    coverage: { lines, seen, by_file: byFile(hunks), hunks },
    evidence: {
      coverage: lines === 0 ? null : seen / lines,
      plausibility: assessment?.evidence.plausibility ?? null,
      novelty: assessment?.evidence.novelty ?? null,
      liveness: null,
      provenance: null,
      reasons: [
        ...(assessment?.reasons ?? []),
        ...(elsewhere === 0 ? [] : [`${elsewhere.toLocaleString('en')} gaze records are about no line of the change`]),
        ...(counted === null ? [] : [`only the first ${counted.toLocaleString('en')} gaze records were counted`]),
        ...missedCanary(checks, input.answers),
      ],
    },
    level,
    checks: passedChecks(checks, input.answers),
    presence: input.credential_id === undefined ? null : { method: 'passkey', credential_id: input.credential_id },
    times: { started_at: row.created_at, decided_at: of.at, active_ms },
    policy: row.policy,
    chain_head: read.chainHead,
    observer: { name: OBSERVER, keyid: of.keyid },
  }
}

function byFile(hunks: readonly { path: string; lines: number; seen: number }[]): Review['coverage']['by_file'] {
  const files = new Map<string, Review['coverage']['by_file'][number]>()
  for (const { path, lines, seen } of hunks) {
    const file = files.get(path) ?? { path, lines: 0, seen: 0 }
    const kind = fileKindOf(path)
    files.set(path, { path, lines: file.lines + lines, seen: file.seen + seen, ...(kind && { kind }) })
  }
  return [...files.values()]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
