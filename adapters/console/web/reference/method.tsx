import { Badge } from '../components/inline.tsx'
import type { Tone } from '../components/layout.tsx'

const TONES: Readonly<Record<string, Tone>> = { GET: 'accent', DELETE: 'bad', POST: 'good' }

/** Method of a request: reading, changing and deleting have colours of their own. */
export const Method = ({ of }: { of: string }) => <Badge tone={TONES[of] ?? 'warn'}>{of}</Badge>
