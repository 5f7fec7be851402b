import { Copy, Dialog, Primary } from '../../components/components.ts'

/** Shows a key once. @param notes notes from the reply */
export function ShownToken(props: { title: string; token: string; notes: readonly string[]; onClose: () => void }) {
  return (
    <Dialog title={props.title} open onClose={props.onClose}>
      <p>Copy the key now. It is shown only once.</p>
      <Copy text={props.token} label="Copy the key" />
      {props.notes.map((note) => (
        <p key={note} class="hint">
          {note}
        </p>
      ))}
      <div class="actions end">
        <Primary onClick={props.onClose}>Done</Primary>
      </div>
    </Dialog>
  )
}
