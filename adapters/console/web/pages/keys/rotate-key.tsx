import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { FormDialog, FormFields } from '../../components/components.ts'
import { moment, timeOf } from '../../format.ts'
import { secretReply, usePostOnce } from '../../post-once.ts'
import { beginSession, session } from '../../signed-in.ts'
import { amountIn } from '../../typed.ts'
import { ShownToken } from './shown-token.tsx'

const LOST =
  'The key was rotated before, but its reply was lost, and the new key cannot be shown again. Rotate once ' +
  'more; the key from before the lost rotation then stops working.'

const HOURS = {
  name: 'hours',
  label: 'Grace period in hours',
  at: 'grace_seconds',
  hint: 'How long the current key still works: 0 to 720; 0 revokes it at once. A key from an earlier rotation is revoked now.',
  inputMode: 'decimal',
  required: true,
  autoComplete: 'off',
} as const

/** Fields of the reply to a rotation that are shown. */
interface Rotated {
  key: string
  previous_expires_at: string | null
}

/** Gives a key a new secret, and shows the new key once. */
export function RotateKeyDialog(props: { of: KeyRecord; onClose: () => void; onRotated: () => void }) {
  const { of, onClose, onRotated } = props
  const post = usePostOnce()
  const [rotated, setRotated] = useState<Rotated | null>(null)

  const rotate = async ({ hours }: { hours: string }) => {
    const before = session.value
    try {
      const rotating = post(`/api/keys/${of.id}/rotate`, { grace_seconds: secondsIn(hours) })
      const reply = await secretReply(rotating, LOST)
      // Continues the session of this tab with the new key. The old key stops working, which would end the session.
      if (before?.id === of.id) beginSession({ ...before, key: reply.key })
      setRotated(reply)
    } finally {
      onRotated()
    }
  }

  if (rotated) {
    const end = rotated.previous_expires_at
    const note = end === null ? 'The old key no longer works.' : `The old key works until ${moment(timeOf(end))}.`
    return <ShownToken title={`New key of ${of.name}`} token={rotated.key} notes={[note]} onClose={onClose} />
  }
  return (
    <FormDialog
      title={`Rotate ${of.name}`}
      action="Rotate key"
      initial={{ hours: '24' }}
      isReady={({ hours }) => hours.trim() !== ''}
      onSubmit={rotate}
      onClose={onClose}
    >
      {(form) => (
        <>
          <FormFields {...form} fields={[HOURS]} />
          <p class="hint">The id, limits, balance and history stay the same.</p>
        </>
      )}
    </FormDialog>
  )
}

/** Converts hours to seconds; other text goes to the API, which refuses it. */
function secondsIn(hours: string) {
  const amount = amountIn(hours)
  return typeof amount === 'number' ? Math.round(amount * 3600) : amount
}
