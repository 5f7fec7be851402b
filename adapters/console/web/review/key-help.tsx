import './review.css'
import { Button } from '../components/fields.tsx'
import { Modal } from './dialog-parts.tsx'

const KEYS: readonly (readonly [string, string])[] = [
  ['j', 'next hunk'],
  ['k', 'previous hunk'],
  ['n', 'next hunk with unread lines'],
  ['a', 'acknowledge an item without lines'],
  ['c', 'comment on the hunk'],
  ['x', 'mark a hunk as no part of the change, where one is a check'],
  ['d', 'decide'],
  ['?', 'this list'],
  ['Esc', 'close'],
]

/** The keys of the page, and what counts as read. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Modal title="Keys" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">
        A changed line is read after 250 ms. Time is shared among all lines in view, and counts while this page is
        visible and has the focus. Red is unread, yellow is glanced at, green is read.
      </p>
      <div class="actions">
        <Button tone="primary" onClick={onClose} children="Close" />
      </div>
    </Modal>
  )
}
