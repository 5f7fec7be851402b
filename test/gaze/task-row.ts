import type { Store } from '../../src/store/store.ts'

const AT = '2026-11-21T06:00:00.000Z'

/** Writes an open task, for tests of gaze that is for it. */
export async function insertTask({ db }: Store, id: string): Promise<void> {
  const nothing = {
    agent: null,
    claimed_by: null,
    claim_hash: null,
    lease_seconds: null,
    lease_expires_at: null,
    claimed_at: null,
    completed_at: null,
    result: null,
    swarm_id: null,
    escrow_id: null,
    reward_expires_at: null,
    reward_settlement: null,
  }
  const text = { id, title: 'Read it', description: '', status: 'open', creator: 'key_a' }
  const rest = { reward_micros: 0, capabilities: '[]', gaze_required: 0, depends_on: '[]', waiting_on: 0 }
  const row = { ...nothing, ...text, ...rest, created_at: AT, updated_at: AT }
  await db.insertInto('tasks').values(row).execute()
}
