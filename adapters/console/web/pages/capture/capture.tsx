import { useEffect, useRef, useState } from 'preact/hooks'
import type { GazeTensor } from '../../../../../src/gaze/tensor.ts'
import { Card, Empty, ErrorNote, Page, Progress } from '../../components/content.ts'
import { Button, Primary } from '../../components/forms.ts'
import { count } from '../../format.ts'
import { href, type PageProps } from '../../router.ts'
import { AttestationView } from '../attention/attestation-view.tsx'
import type { GazeMap } from './gaze-map.ts'
import { type Material, sampleMaterial } from './material.ts'
import { MaterialChoice } from './material-choice.tsx'
import { createRecorder, NOTHING_RECORDED, type Recorded, type Recorder } from './recorder.ts'
import { type Capture as Capturing, startCapture } from './start-capture.ts'
import type { Face } from './webcam.ts'
import { WebcamPanel } from './webcam-panel.tsx'
import '../attention/attention.css'
import './capture.css'

/** Recording of a reading person. The attention that pointer and webcam show becomes an attestation. */
export default function Capture({ query }: PageProps) {
  const taskId = query.get('task')
  return <CapturePage key={taskId} taskId={taskId} />
}

function CapturePage({ taskId }: { taskId: string | null }) {
  const [material, setMaterial] = useState<Material | null>(() => (taskId === null ? sampleMaterial() : null))
  const recording = useRecording()
  const { isOn, stopping, start, stop } = recording
  return (
    <Page
      title="Capture"
      intro="Read a text while your pointer, and optionally your webcam, record where you look. Gazeway checks that the attention looks human, and attests it."
      actions={
        isOn || stopping ? (
          <Button tone="danger" busy={stopping} onClick={() => void stop()} children="Stop recording" />
        ) : (
          <Primary
            disabled={material === null}
            onClick={() => material && start(material)}
            children="Start recording"
          />
        )
      }
    >
      <div class="capture">
        <div class="stack">
          <MaterialChoice taskId={taskId} disabled={isOn} onChange={setMaterial} />
          {material === null ? (
            <Card>
              <Empty title="Nothing to read yet" hint="Choose a text above." />
            </Card>
          ) : (
            <Reading material={material} />
          )}
        </div>
        <div class="stack">
          <RecordingCard of={recording} />
          <WebcamPanel onFace={recording.see} onMap={recording.follow} />
        </div>
      </div>
    </Page>
  )
}

/** Recording of the pointer and the webcam. It stops when the page is left. */
function useRecording() {
  const [recorded, setRecorded] = useState<Recorded | null>(null)
  const [made, setMade] = useState(0)
  const [isOn, setOn] = useState(false)
  const [stopping, setStopping] = useState(false)
  const running = useRef<{ capture: Capturing; recorder: Recorder } | null>(null)
  const ended = useRef<Recorder | null>(null)
  const gazeMap = useRef<GazeMap | null>(null)

  const start = (material: Material) => {
    setMade(0)
    setRecorded(NOTHING_RECORDED)
    const recorder = createRecorder({ taskId: material.taskId, onChange: setRecorded })
    const onRecord = (record: GazeTensor) => {
      recorder.add(record)
      setMade((before) => before + 1)
    }
    running.current = { capture: startCapture({ material, gazeMap: () => gazeMap.current, onRecord }), recorder }
    setOn(true)
  }
  const stop = async () => {
    const ending = running.current
    running.current = null
    ended.current = ending?.recorder ?? null
    ending?.capture.stop()
    setOn(false)
    setStopping(true)
    await ending?.recorder.stop()
    setStopping(false)
  }
  useEffect(() => () => void stop(), [])

  const see = (face: Face | null) => running.current?.capture.see(face)
  const follow = (map: GazeMap | null) => {
    gazeMap.current = map
  }
  const resend = () => void ended.current?.send()
  return { recorded, made, isOn, stopping, start, stop, see, follow, resend }
}

function RecordingCard({ of }: { of: ReturnType<typeof useRecording> }) {
  const { recorded, made, isOn, resend } = of
  const attestation = recorded?.attestation ?? null
  return (
    <Card title="Recording">
      <p role="status">{statusText(isOn, made, recorded)}</p>
      {recorded === null && (
        <p class="hint">
          Press “Start recording”, then read and follow the text with the pointer. A rest of 0.1 s or more becomes a
          record.
        </p>
      )}
      <ErrorNote error={recorded?.error} {...(!isOn && recorded?.waiting && { onRetry: resend })} />
      {recorded?.error && (
        <p class="hint">
          {count(recorded.waiting)} records are waiting to be sent. Stay on this page until they are sent.
        </p>
      )}
      {isOn && !attestation && <Progress value={made / 20} label="Records" text={count(made)} />}
      {attestation && <AttestationView attestation={attestation} />}
      {recorded?.sessionId && (
        <p>
          <a href={href('attention', { id: recorded.sessionId })}>View the session</a>
        </p>
      )}
    </Card>
  )
}

function Reading({ material }: { material: Material }) {
  const isFile = 'path' in material.place
  return (
    <Card title={material.title}>
      <ol class={isFile ? 'reading code' : 'reading'} tabIndex={0} aria-label={`Text: ${material.title}`}>
        {material.lines.map((text, at) => (
          <li key={`${at}-${text}`} data-line={at + 1}>
            <span class="number" aria-hidden="true">
              {at + 1}
            </span>
            <span class="text">{text}</span>
          </li>
        ))}
      </ol>
    </Card>
  )
}

function statusText(recording: boolean, made: number, recorded: Recorded | null): string {
  if (recording) return `Recording: ${count(made)} ${made === 1 ? 'record' : 'records'} so far.`
  if (recorded === null) return 'Not recording.'
  if (made === 0) return 'Stopped. No records: the pointer did not rest in this window.'
  return `Stopped after ${count(made)} ${made === 1 ? 'record' : 'records'}.`
}
