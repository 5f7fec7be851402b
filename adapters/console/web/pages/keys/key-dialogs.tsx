import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { api, PATIENT_MS } from '../../api.ts'
import { Copy, notify } from '../../components/content.ts'
import { Checkbox, Confirm, Dialog, FormDialog, Primary } from '../../components/forms.ts'
import { moment, timeOf } from '../../format.ts'
import { secretReply, usePostOnce } from '../../post-once.ts'
import { beginSession, session } from '../../signed-in.ts'
import { amountIn } from '../../typed.ts'
import { type Draft, draftOf, KEY_TERMS, NEW_KEY_TERMS, type Term, TermFields, termsIn } from './key-terms.tsx'

/**
 * Form of the terms of a key or a group, which begins with the name.
 *
 * @param of what is changed; null for a new one
 * @param send sends the terms of a new one, or those that differ
 */
export function TermsDialog(props: {
  title: string
  action: string
  nameHint?: string
  terms: readonly Term[]
  of: object | null
  wide?: boolean
  isReady?: boolean
  hint?: string
  send: (terms: Record<string, unknown>) => Promise<void>
  onClose: () => void
  children?: ComponentChildren
}) {
  const { nameHint, terms, of, isReady = true, send, children, ...dialog } = props
  const sentBy = (draft: Draft, was: Draft) => termsIn(terms, draft, of === null ? undefined : was)
  const isChanged = (draft: Draft, was: Draft) => Object.keys(sentBy(draft, was)).length > 0
  return (
    <FormDialog<Draft>
      {...dialog}
      fields={[{ name: 'name', label: 'Name', hint: nameHint, required: true, maxLength: 100, autoComplete: 'off' }]}
      initial={draftOf(terms, of ?? { cache: 'auto' })}
      isReady={(draft, was) => isReady && String(draft.name).trim() !== '' && isChanged(draft, was)}
      onSubmit={(draft, was) => send(sentBy(draft, was))}
    >
      {(form) => (
        <>
          {children}
          <TermFields {...form} terms={terms} />
        </>
      )}
    </FormDialog>
  )
}

/** Says that a key or a group was saved, and what is odd about it. */
export function tellSaved(said: string, warnings: readonly string[]): void {
  notify(said)
  for (const warning of warnings) notify(warning, 'warn')
}

/** Globs are compared with the provider's models, which takes time. */
const patienceFor = ({ models }: Record<string, unknown>) => (models ? { timeoutMs: PATIENT_MS } : {})

const SCOPES = [
  { scope: 'inference', label: 'Inference: model calls and memory over HTTP' },
  { scope: 'platform', label: 'Platform: wallet, tasks, sessions, this console' },
  { scope: 'admin', label: 'Admin: everything, including keys and settings' },
] as const

const LOST_KEY =
  'The key was created before, but its reply was lost, and the key cannot be shown again. Revoke it on its ' +
  'page; then create another.'

/** Creates a key from its scopes and limits, and shows it once. */
export function NewKeyDialog({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const post = usePostOnce()
  const [made, setMade] = useState<{ key: string; name: string; warnings: string[] } | null>(null)
  const [scopes, setScopes] = useState<readonly string[]>(['inference'])
  const make = async (terms: Record<string, unknown>) => {
    try {
      setMade(await secretReply(post('/api/keys', { ...terms, scopes }, patienceFor(terms)), LOST_KEY))
    } finally {
      onMade()
    }
  }
  if (made) return <ShownToken title={`Key ${made.name}`} token={made.key} notes={made.warnings} onClose={onClose} />
  return (
    <TermsDialog
      title="New key"
      action="Create key"
      nameHint="Display name, to recognize the key."
      wide
      terms={NEW_KEY_TERMS}
      of={null}
      isReady={scopes.length > 0}
      send={make}
      onClose={onClose}
    >
      <fieldset>
        <legend>Scopes</legend>
        {SCOPES.map(({ scope, label }) => (
          <Checkbox
            key={scope}
            label={label}
            checked={scopes.includes(scope)}
            onChange={(on) => setScopes(on ? [...scopes, scope] : scopes.filter((one) => one !== scope))}
          />
        ))}
      </fieldset>
    </TermsDialog>
  )
}

/** Key whose dialog is open. */
interface OfKey {
  of: KeyRecord
  onClose: () => void
  onChanged: () => void
}

/** Changes limits, group, billing, expiry or name of a key. Sends only the changed fields. */
export function EditKeyDialog({ of, onClose, onChanged }: OfKey) {
  const save = async (terms: Record<string, unknown>) => {
    const { name, warnings } = await api.patch(`/api/keys/${of.id}`, terms, patienceFor(terms))
    tellSaved(`Saved ${name}.`, warnings)
    onChanged()
    onClose()
  }
  return (
    <TermsDialog
      title={`Edit ${of.name}`}
      action="Save key"
      wide
      terms={KEY_TERMS}
      of={of}
      hint="New limits apply to calls at once in this process, and within 5 s in others."
      send={save}
      onClose={onClose}
    />
  )
}

const LOST_ROTATION =
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

/** Gives a key a new secret, and shows the new key once. */
export function RotateKeyDialog({ of, onClose, onChanged }: OfKey) {
  const post = usePostOnce()
  const [rotated, setRotated] = useState<{ key: string; previous_expires_at: string | null } | null>(null)
  const rotate = async ({ hours }: { hours: string }) => {
    const before = session.value
    try {
      const rotating = post(`/api/keys/${of.id}/rotate`, { grace_seconds: secondsIn(hours) })
      const reply = await secretReply(rotating, LOST_ROTATION)
      // Continues the session of this tab with the new key. The old key stops working, which would end the session.
      if (before?.id === of.id) beginSession({ ...before, key: reply.key })
      setRotated(reply)
    } finally {
      onChanged()
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
      fields={[HOURS]}
      hint="The id, limits, balance and history stay the same."
      isReady={({ hours }) => hours.trim() !== ''}
      onSubmit={rotate}
      onClose={onClose}
    />
  )
}

/** Converts hours to seconds; other text goes to the API, which refuses it. */
function secondsIn(hours: string) {
  const amount = amountIn(hours)
  return typeof amount === 'number' ? Math.round(amount * 3600) : amount
}

/** Asks before a key is revoked, on its page. */
export function RevokeKeyDialog({ of, onClose, onChanged }: OfKey) {
  const revoke = async () => {
    await api.delete(`/api/keys/${of.id}`)
    notify(`Revoked ${of.name}. This page shows what it did.`)
    onChanged()
  }
  return (
    <Confirm
      title={`Revoke ${of.name}?`}
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

/** Shows a key once. @param notes notes from the reply */
function ShownToken(props: { title: string; token: string; notes: readonly string[]; onClose: () => void }) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p>Copy the key now. It is shown only once.</p>
      <Copy text={props.token} label="Copy the key" />
      {props.notes.map((note) => (
        <p key={note} class="hint" children={note} />
      ))}
      <div class="actions end" children={<Primary onClick={props.onClose}>Done</Primary>} />
    </Dialog>
  )
}
