import type { Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Schema } from '../../store/schema.ts'
import type { CountChanges } from './count-changes.ts'
import { isLive, REMOVED, takeOut } from './memory-expiry.ts'
import { describePlace, isAt } from './memory-place.ts'
import type { MemoryInput } from './memory-record.ts'
import { earlierVersion, keepVersion } from './memory-versions.ts'

/**
 * Supersedes the memory under `input.supersedes` by the one that `input` stores. The old memory stays readable by key
 * and version, but searches no longer find it. Repeating it changes nothing.
 *
 * @throws GazewayError `not_found` when there is no such memory; `validation_failed` when both keys are equal
 */
export async function supersede(
  trx: Transaction<Schema>,
  { space, input, now, changes }: { space: number; input: MemoryInput; now: string; changes: CountChanges },
): Promise<void> {
  const { namespace, key, supersedes, project = null } = input
  if (supersedes === undefined) return
  if (supersedes === key)
    throw new GazewayError(
      'validation_failed',
      'supersedes: names the key itself; storing a key again keeps its earlier version. Omit the field.',
      { param: 'supersedes' },
    )
  const place = { space, namespace, key: supersedes, project }
  const old = await trx
    .selectFrom('memories')
    .select([...REMOVED, 'version', 'tags'])
    .where(isAt(place))
    .where(isLive(now))
    .forUpdate()
    .executeTakeFirst()
  if (old) {
    await keepVersion(trx, old, key)
    await takeOut(trx, [old], changes)
    return
  }
  const earlier = await earlierVersion(trx, place, { now })
  if (earlier?.superseded_by === key) return
  throw new GazewayError(
    'not_found',
    `There is no memory ${describePlace(place)} to supersede; nothing was stored. Name the key of one in the same namespace and project, or omit supersedes.`,
    { param: 'supersedes' },
  )
}
