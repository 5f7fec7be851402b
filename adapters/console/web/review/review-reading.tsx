import './review.css'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Button } from '../components/fields.tsx'
import { DecisionDialog } from './decision-dialog.tsx'
import { useEyes } from './eyes-switch.tsx'
import { FileList, filesOf, KindBadge } from './file-list.tsx'
import { KeyHelp } from './key-help.tsx'
import { visible } from './line-text.tsx'
import { goToUnread, step } from './navigation.ts'
import { acknowledge, askComment, PartView, toggleMark } from './part-view.tsx'
import type { Unconfirmed } from './passkey-step.tsx'
import { linesRead, type ReviewState } from './review-state.ts'
import { type ReadingWatch, watchReading } from './watch-reading.ts'

/** Dialogs of the page. */
type Asked = 'decision' | 'help' | null

/**
 * A change to read: files, hunks, how far they were read, and the decision.
 *
 * @param props.onDecided called once with the receipt that a passkey is to confirm; null without one
 */
export function ReviewReading(props: { state: ReviewState; onDecided: (unconfirmed: Unconfirmed | null) => void }) {
  const { state, onDecided } = props
  const [asked, setAsked] = useState<Asked>(null)
  const [fault, setFault] = useState<string | null>(null)
  const watch = useRef<ReadingWatch | null>(null)
  const files = useMemo(() => filesOf(state.parts), [state])
  const eyes = useEyes({ state, onRest: (rest) => watch.current?.add(rest) })

  useEffect(() => {
    document.title = `Review ${state.title}`
    watch.current = watchReading(state, setFault)
    return () => watch.current?.stop()
  }, [state])
  useKeys(state, setAsked)

  return (
    <div class="review-reading">
      <Bar state={state} onAsk={setAsked} eyes={eyes} />
      {eyes.shown}
      {fault !== null && (
        <p class="review-fault bad" role="alert">
          Reading is not recorded: {fault}
        </p>
      )}
      {state.canary !== null && !state.isDisclosed.value && (
        <p class="review-fault">
          One of the hunks is a check and no part of the change. Mark it with <kbd>x</kbd> before you decide.
        </p>
      )}
      <div class="review-body">
        <FileList state={state} files={files} />
        <div class="review-parts">
          {files.map(({ path, parts }) => (
            <article key={path} aria-label={path}>
              <h2>
                {visible(path)} <KindBadge path={path} />
              </h2>
              {parts.map((index) => (
                <PartView key={index} state={state} index={index} />
              ))}
            </article>
          ))}
        </div>
      </div>
      {asked === 'help' && <KeyHelp onClose={() => setAsked(null)} />}
      {asked === 'decision' && (
        <DecisionDialog
          state={state}
          flush={() => watch.current?.flush() ?? Promise.resolve()}
          onClose={() => setAsked(null)}
          onDecided={(unconfirmed) => {
            watch.current?.stop()
            setAsked(null)
            onDecided(unconfirmed)
          }}
        />
      )}
    </div>
  )
}

/** Acts on the keys of the page, except while text is typed or a dialog is open. */
function useKeys(state: ReviewState, ask: (asked: Asked) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const act = keysOf(state, ask)[event.key]
      if (act === undefined || document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [state])
}

/** Actions of the keys. `key-help.tsx` describes them. */
const keysOf = (state: ReviewState, ask: (asked: Asked) => void): Readonly<Record<string, () => void>> => ({
  j: () => step(state, 1),
  k: () => step(state, -1),
  n: () => goToUnread(state),
  c: () => askComment(state, state.current.value),
  a: () => acknowledge(state, state.current.value),
  x: () => toggleMark(state, state.current.value),
  d: () => ask('decision'),
  '?': () => ask('help'),
})

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select') !== null

function Bar(props: { state: ReviewState; onAsk: (asked: Asked) => void; eyes: ReturnType<typeof useEyes> }) {
  const { state, onAsk, eyes } = props
  return (
    <header class="review-bar">
      <h1 tabIndex={-1}>{state.title}</h1>
      <Progress state={state} />
      <span class="sp" />
      <Button tone="quiet" pressed={eyes.isOn} onClick={eyes.toggle} children="Follow my eyes" />
      <button type="button" class="quiet" onClick={() => onAsk('help')}>
        Keys <kbd>?</kbd>
      </button>
      <button type="button" onClick={() => goToUnread(state)}>
        Next unread <kbd>n</kbd>
      </button>
      <button type="button" class="primary" onClick={() => onAsk('decision')}>
        Decide <kbd>d</kbd>
      </button>
    </header>
  )
}

function Progress({ state }: { state: ReviewState }) {
  const { lines, seen } = linesRead(state, state.parts.keys())
  return (
    <div class="review-progress" role="status" aria-label="Progress">
      <progress max={lines} value={seen} aria-hidden="true" />
      {seen.toLocaleString()} of {lines.toLocaleString()} lines read, {inWords(state.activeMs.value)}
    </div>
  )
}

function inWords(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
