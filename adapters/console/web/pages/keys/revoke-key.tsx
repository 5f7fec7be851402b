import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { api } from '../../api.ts'
import { Confirm, notify } from '../../components/components.ts'
import { session } from '../../signed-in.ts'

/** Asks before a key is revoked, on its page. */
export function RevokeKeyDialog(props: { of: KeyRecord; onClose: () => void; onRevoked: () => void }) {
  const { of, onClose, onRevoked } = props
  const revoke = async () => {
    await api.delete(`/api/keys/${of.id}`)
    notify(`Revoked ${of.name}. This page shows what it did.`)
    onRevoked()
  }
  return (
    <Confirm
      title={`Revoke ${of.name}?`}
      open
      onClose={onClose}
      onConfirm={revoke}
      action="Revoke and show what it did"
      body={
        <>
          <p>
            Requests with this key will be refused: at once in this process, within 5 seconds in others. This cannot be
            undone.
          </p>
          {of.id === session.value?.id && <p>You are signed in with this key and will be signed out.</p>}
        </>
      }
    />
  )
}
