import './review.css'
import { useRef, useState } from 'preact/hooks'
import { Button } from '../components/fields.tsx'
import { Modal } from './dialog-parts.tsx'
import type { FollowedEyes } from './eyes-on-lines.ts'
import { TrackerEyes } from './tracker-eyes.tsx'
import type { Rest } from './watch-reading.ts'
import { WebcamEyes } from './webcam-eyes.tsx'

/** Follows the eyes of a reviewer who agrees: with a webcam, or with a tracker where the page can be sent its positions. */
export function Eyes(props: FollowedEyes) {
  const { tracker } = props.state
  const [source, setSource] = useState<Rest['source'] | null>(null)
  const isChosen = useRef(false)
  const choose = (chosen: Rest['source']) => {
    isChosen.current = true
    setSource(chosen)
  }
  if (source === 'webcam') return <WebcamEyes {...props} />
  if (source === 'eye_tracker' && tracker !== null) return <TrackerEyes {...props} tracker={tracker} />
  return (
    // It is closed by a choice as well.
    <Modal title="Follow your eyes?" onClose={() => isChosen.current || props.onOff()}>
      <ul class="plain-list">
        <li>
          Sent as evidence of this review: the lines that your eyes rested on, where in the window, and for how long.
        </li>
        <li>Images of a webcam are analyzed in this browser. They are neither stored nor sent.</li>
        <li>A face model of 8 MB is loaded from this Gazeway only.</li>
        <li>It ends with the decision, and you can turn it off before.</li>
      </ul>
      <div class="actions end">
        <Button onClick={props.onOff} children="Not now" />
        {tracker !== null && <Button onClick={() => choose('eye_tracker')} children="Use an eye tracker" />}
        <Button tone="primary" onClick={() => choose('webcam')} children="Use the webcam" />
      </div>
    </Modal>
  )
}
