import { Attestation } from '../src/gaze/attestation.ts'
import { isRelative } from '../src/gaze/dwell.ts'
import { StoredGaze, StoreGaze } from '../src/gaze/gaze.ts'
import { defineTool } from './tool.ts'

/** An attestation without the fields that a model needs least. */
const ListedAttestation = Attestation.omit({ components: true, evidence: true }).loose()

export const storeGazeData = defineTool({
  name: 'gateway_store_gaze_data',
  title: 'Store gaze data',
  description:
    'For capture tools: store where a person looked and how, from an eye tracker, webcam, editor or pointer. Never ' +
    'invent records: they become evidence of attention. A record that is sent again to its session counts once. ' +
    'Example: records [{"at":"2026-11-21T09:00:00Z","dwell_ms":350,"source":"ide",' +
    '"confidence":0.9,"cog":{"focus":0.8,"load":0.4},"emo":{"valence":0.1,"arousal":0.3},"env":{"path":"src/a.ts"}}].',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  input: StoreGaze.strict(),
  output: StoredGaze,
  listed: StoredGaze.extend({ attestation: ListedAttestation }),
  async run({ gaze }, input, { callerId, gazeOf, projectRoot }, keep) {
    const inProject = input.records.some(({ env }) => env.path !== undefined && isRelative(env.path))
    const root = inProject ? await projectRoot() : null
    return gaze.store(root === null ? input : { ...input, root }, callerId ?? undefined, gazeOf, keep)
  },
  render: ({ session_id, stored, duplicates, attestation }) =>
    `Stored ${stored} ${stored === 1 ? 'record' : 'records'} in session ${session_id}${known(duplicates)}. ` +
    `Attestation ${attestation.status}, level ${attestation.level}, score ${attestation.poa_score.toFixed(2)}, ` +
    `${attestation.records} of ${attestation.records_needed} records needed.`,
})

function known(duplicates: number): string {
  if (duplicates === 0) return ''
  return `; ${duplicates} ${duplicates === 1 ? 'was' : 'were'} there already`
}
