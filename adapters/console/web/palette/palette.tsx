import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { secretIn } from '../../../../src/text/secret-text.ts'
import { ErrorNote } from '../components/content.ts'
import { go } from '../router.ts'
import { useTyped } from '../use-typed.ts'
import { type Found, findPlaces, findRecords } from './find.ts'
import './palette.css'

/** Pause after a letter before records are searched, in milliseconds. */
const PAUSE_MS = 150
/** Longest text, in characters: that of the longest name, the key of a memory. */
const LONGEST = 512

/**
 * Palette that leads to any page, record, setting or action by its name or id.
 *
 * @param initial text that was pasted on a page. Records are not searched for it before a key is pressed
 */
export default function Palette({ initial, onClose }: { initial: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const [text, setText] = useState(initial)
  const [at, setAt] = useState(0)
  const [isAsked, setAsked] = useState(initial === '')
  const sought = isAsked ? text.trim() : ''
  const { found: records } = useTyped(sought, (signal) => findRecords(sought, signal), PAUSE_MS)
  const found = [...findPlaces(text.trim()), ...(records?.found ?? [])]
  const chosen = Math.min(at, found.length - 1)

  useLayoutEffect(() => {
    dialog.current?.showModal()
    return () => dialog.current?.close()
  }, [])
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen])

  const open = (place: Found | undefined) => {
    if (!place) return
    onClose()
    go(place.address)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by === undefined) return
    setAsked(true)
    if (found.length === 0) return
    event.preventDefault()
    setAt((chosen + by + found.length) % found.length)
  }
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Find anything"
      // The event comes late: from a palette that is gone it would close the next one.
      onClose={({ currentTarget }) => currentTarget.isConnected && onClose()}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setAsked(true)
          open(found[chosen])
        }}
      >
        <input
          role="combobox"
          aria-label="Page, name, id or action"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={found.length > 0 ? `${id}-${chosen}` : undefined}
          placeholder="Page, name, id or action"
          autocomplete="off"
          spellcheck={false}
          maxLength={LONGEST}
          value={text}
          onKeyDown={onKeyDown}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            setAsked(true)
            setAt(0)
          }}
        />
      </form>
      <ErrorNote error={records?.error} />
      <div id={id} class="palette-found" role="listbox" aria-label="Found">
        {found.map((place, index) => (
          <div
            key={`${place.group} ${place.address} ${place.label}`}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onPointerUp={() => open(place)}
          >
            <span class="palette-group">{place.group}</span>
            <span class="palette-label">{place.label}</span>
            <span class="palette-note">{place.note}</span>
          </div>
        ))}
      </div>
      <p class="hint" role="status">
        {hintFor({ secret: secretIn(text), isAsked, isFound: found.length > 0 })}
      </p>
    </dialog>
  )
}

function hintFor(of: { secret: string | null; isAsked: boolean; isFound: boolean }): string {
  if (of.secret !== null) return `This looks like ${of.secret}. Records are not searched for it.`
  if (of.isFound) return '↑ ↓ choose, Enter opens, Esc closes.'
  return of.isAsked ? 'Nothing has this name or id.' : 'Enter searches for this text, Esc closes.'
}
