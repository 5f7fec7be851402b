import './review.css'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../components/fields.tsx'
import { TRACKER } from '../pages/capture/dwells.ts'
import { Fault } from './dialog-parts.tsx'
import { type FollowedEyes, watchEyes } from './eyes-on-lines.ts'
import { followTracker, type Tracker } from './tracker.ts'

/** Error of a tracker, up and down: 1 degree is 1 cm at 60 cm (Holmqvist and others 2012), about 38 px. */
const REACH_PX = 38

/** Follows the eyes by positions that the program of a tracker sends, and says where to send them. */
export function TrackerEyes({ state, tracker, onRest, onOff }: FollowedEyes & { tracker: Tracker }) {
  const [token, setToken] = useState<string | null>(null)
  const [count, setCount] = useState(0)
  const [fault, setFault] = useState<string | null>(null)
  useEffect(() => {
    const eyes = watchEyes({ state, source: 'eye_tracker', terms: TRACKER, reach: () => REACH_PX, onRest })
    const stop = followTracker(tracker, {
      onToken: setToken,
      onPoints(points) {
        setCount((before) => before + points.length)
        for (const point of points) eyes.look(point)
      },
      onFault: setFault,
    })
    return () => {
      stop()
      eyes.stop()
    }
  }, [])
  return (
    <section class="review-eyes" aria-label="Eye tracker">
      <div>
        <p role="status">
          {count === 0
            ? 'Waiting for positions of your tracker.'
            : `Your eyes are followed: ${count.toLocaleString()} positions so far.`}
        </p>
        {token !== null && count === 0 && (
          <pre>
            {`curl ${location.origin}/api/positions -H 'Authorization: Bearer ${token}' \\
  -H 'Content-Type: application/json' -d '{"positions": [{"x": 0.5, "y": 0.5}]}'`}
          </pre>
        )}
        <Fault text={fault} />
      </div>
      <div class="actions">
        <Button onClick={onOff} children="Turn off" />
      </div>
    </section>
  )
}
