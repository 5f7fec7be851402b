import type { Attestation } from '../../../../../src/gaze/attestation.ts'
import { Badge, Copy, Countdown, Facts, Progress } from '../../components/content.ts'
import { count } from '../../format.ts'
import { href } from '../../router.ts'
import './attention.css'

const COMPONENTS: readonly { name: keyof Attestation['components']; label: string; means: string }[] = [
  { name: 'coverage', label: 'Coverage', means: 'enough records, covering enough of the time' },
  { name: 'continuity', label: 'Continuity', means: 'no long gaps' },
  { name: 'plausibility', label: 'Plausibility', means: 'human-like dwells and movements' },
  { name: 'confidence', label: 'Confidence', means: 'certainty of the source' },
  { name: 'freshness', label: 'Freshness', means: 'halves every 15 minutes' },
]

const SIGNS = ['coverage', 'plausibility', 'novelty', 'liveness', 'provenance'] as const

/** Attestation of a session: its score, its components, and the reasons for not passing. */
export function AttestationView({ attestation }: { attestation: Attestation }) {
  const { status, poa_score, records, records_needed, progress, components, reasons, task_id, evidence, level } =
    attestation
  return (
    <div class="attestation stack">
      <p class="attestation-head" role="status">
        <StatusBadge status={status} /> <strong class="score">{poa_score.toFixed(2)}</strong>{' '}
        <span class="muted">proof of attention, 0 to 1</span>
      </p>
      {reasons.length > 0 && (
        <ul class="plain-list" aria-label="Reasons for not passing">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      <div class="components">
        <Progress
          value={progress}
          label="Records"
          text={records < records_needed ? `${records}/${records_needed}` : count(records)}
        />
        {COMPONENTS.map(({ name, label, means }) => (
          <div key={name} title={means}>
            <Progress value={components[name]} label={label} text={components[name].toFixed(2)} />
          </div>
        ))}
      </div>
      <Facts
        of={{
          Level: level,
          Evidence: SIGNS.map((name) => `${name} ${evidence[name]?.toFixed(2) ?? 'not measured'}`).join(', '),
          'Valid for': <Countdown to={attestation.expires_at} over="over; assessed again on request" />,
          Task: task_id && <a href={href('tasks', { id: task_id })}>{task_id}</a>,
          Attestation: <Copy text={attestation.id} />,
        }}
      />
    </div>
  )
}

const TONES = { collecting: 'accent', passed: 'good', failed: 'bad' } as const

/** Label of the status. */
export function StatusBadge({ status }: { status: Attestation['status'] }) {
  return <Badge tone={TONES[status]}>{status}</Badge>
}
