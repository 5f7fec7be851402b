import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { ApiError } from '../../api.ts'
import { Dialog, Field, SubmitForm, TextInput } from '../../components/components.ts'
import { moment, timeOf } from '../../format.ts'
import { usePostOnce } from '../../once.ts'
import { beginSession, session } from '../../signed-in.ts'
import { amountIn } from '../../typed.ts'
import { ShownToken } from './shown-token.tsx'

const LOST =
  'The key was rotated before, but the reply that shows the new one was lost, and nothing can show it again. Rotate once ' +
  'more for another; what was in use before that stops working then.'

/** Reply to a rotation, as far as it is shown. */
interface Rotated {
  key: string
  previous_expires_at: string | null
}

/** Gives a key a new secret, and shows that this once. */
export function RotateKeyDialog(props: { of: KeyRecord; onClose: () => void; onRotated: () => void }) {
  const { of, onClose, onRotated } = props
  const post = usePostOnce()
  const [hours, setHours] = useState('24')
  const [rotated, setRotated] = useState<Rotated | null>(null)

  const rotate = async () => {
    const before = session.value
    try {
      const reply = await post<Rotated>(`/api/keys/${of.id}/rotate`, { grace_seconds: secondsIn(hours) })
      // The key that this tab is signed in with stops working: without this, that would end the session.
      if (before?.id === of.id) beginSession({ ...before, key: reply.key })
      setRotated(reply)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'idempotency_reply_not_kept') throw error
      throw new Error(LOST)
    } finally {
      onRotated()
    }
  }

  if (rotated) {
    const end = rotated.previous_expires_at
    const note =
      end === null ? 'The one before does not work any more.' : `The one before works until ${moment(timeOf(end))}.`
    return <ShownToken title={`The new key of ${of.name}`} token={rotated.key} notes={[note]} onClose={onClose} />
  }
  return (
    <Dialog title={`Rotate ${of.name}`} open onClose={onClose}>
      <SubmitForm action="Rotate the key" disabled={hours.trim() === ''} onSubmit={rotate} onCancel={onClose}>
        {(faultOf) => (
          <>
            <Field
              label="Grace in hours"
              error={faultOf('grace_seconds')}
              hint="How long the present key still works: 0 ends it at once, 720 is the most. One that was rotated out before ends now."
            >
              <TextInput value={hours} onInput={setHours} inputMode="decimal" required autoComplete="off" />
            </Field>
            <p class="hint">Its id, limits, money and history stay.</p>
          </>
        )}
      </SubmitForm>
    </Dialog>
  )
}

/** Converts hours to seconds; other text goes to the API, which refuses it. */
function secondsIn(hours: string) {
  const amount = amountIn(hours)
  return typeof amount === 'number' ? Math.round(amount * 3600) : amount
}
