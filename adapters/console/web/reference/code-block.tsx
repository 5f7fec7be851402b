import './reference.css'
import { Button } from '../components/fields.tsx'
import { useCopy } from '../components/inline.tsx'
import { Verbatim } from '../components/layout.tsx'

/** Code with a button that copies it. @param label what it is, for those who do not see it */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  const { said, copy } = useCopy(text)
  return (
    <div class="ref-code">
      <Button size="small" onClick={copy} label={`Copy ${label}`} children={said || 'Copy'} />
      <span class="sr" role="status">
        {said}
      </span>
      <Verbatim label={label} text={text} />
    </div>
  )
}
