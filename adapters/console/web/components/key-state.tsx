import type { KeyRecord } from '../../../../src/identity/key.ts'
import { timeOf } from '../format.ts'
import { now } from '../now.ts'
import { Badge, When } from './inline.tsx'

/** Validity of a key and its expiry. */
export function KeyState({ of: { revoked_at, expires_at } }: { of: Pick<KeyRecord, 'revoked_at' | 'expires_at'> }) {
  if (revoked_at !== null) return <Badge tone="bad">revoked</Badge>
  if (expires_at === null) return <Badge tone="good">in force</Badge>
  if (timeOf(expires_at) <= now.value) return <Badge tone="bad">expired</Badge>
  return (
    <>
      <Badge tone="good">in force</Badge>{' '}
      <span class="muted">
        ends <When at={expires_at} />
      </span>
    </>
  )
}
