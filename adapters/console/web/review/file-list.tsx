import './review.css'
import { fileKindOf } from '../../../../src/review/file-kind.ts'
import { visible } from './line-text.tsx'
import { goTo } from './navigation.ts'
import { linesRead, type ReviewState } from './review-state.ts'

/** A file with the indexes of its parts. */
interface ReviewedFile {
  path: string
  parts: number[]
}

/** Groups parts by file. */
export function filesOf(parts: ReviewState['parts']): ReviewedFile[] {
  const files = new Map<string, number[]>()
  for (const [index, { path }] of parts.entries()) files.set(path, [...(files.get(path) ?? []), index])
  return [...files].map(([path, indexes]) => ({ path, parts: indexes }))
}

/** Files of the change, and the share of their lines that was read. */
export function FileList({ state, files }: { state: ReviewState; files: readonly ReviewedFile[] }) {
  return (
    <nav class="review-files" aria-label="Files">
      <h2>{files.length === 1 ? '1 file' : `${files.length.toLocaleString()} files`}</h2>
      <ul>
        {files.map((file) => (
          <FileLink key={file.path} state={state} file={file} />
        ))}
      </ul>
    </nav>
  )
}

function FileLink({ state, file: { path, parts } }: { state: ReviewState; file: ReviewedFile }) {
  const { lines, seen } = linesRead(state, parts)
  const share = Math.floor((100 * seen) / lines)
  return (
    <li>
      <button type="button" class="quiet" title={path} onClick={() => goTo(state, parts[0] ?? 0)}>
        <span class="cut">{visible(path)}</span>
        <KindBadge path={path} />
        <span class={share === 100 ? 'good' : ''}>{share} %</span>
      </button>
    </li>
  )
}

/** Says that a tool wrote a file, so that the lines which people wrote stand out. */
export function KindBadge({ path }: { path: string }) {
  const kind = fileKindOf(path)
  return kind && <span class="badge neutral">{kind}</span>
}
