import type { Task } from '../../../../../src/tasks/task-record.ts'

/** Text to read while attention is recorded. */
export interface Material {
  title: string
  lines: readonly string[]
  /** Place named in the records. */
  place: { path: string } | { url: string }
  /** Task that the attention is for; null for none. */
  taskId: string | null
}

/** Maximum number of lines that are shown of a file. */
const MAX_LINES = 2000

/** Address of this console, for records without another place. */
export const consoleUrl = (page: string) => `${location.origin}/#/${page}`

/** Makes lines to read from a task's title, description and result. */
export function taskMaterial({ id, title, description, result }: Task): Material {
  const outcome = typeof result === 'string' ? result : JSON.stringify(result, null, 2)
  const text = [title, '', description, ...(result === null ? [] : ['', 'Result', '', outcome])].join('\n')
  return { title, lines: linesOf(text), place: { url: consoleUrl(`tasks/${id}`) }, taskId: id }
}

/** Makes lines to read from a local file. Its text stays in the browser. @param path path of the file in its project */
export function fileMaterial(path: string, text: string): Material {
  return { title: path, lines: linesOf(text), place: { path }, taskId: null }
}

/** Sample text. */
export function sampleMaterial(): Material {
  const [title = '', ...rest] = SAMPLE
  return { title, lines: [title, ...rest], place: { url: consoleUrl('capture') }, taskId: null }
}

function linesOf(text: string): string[] {
  return text.replaceAll('\r\n', '\n').split('\n').slice(0, MAX_LINES)
}

const SAMPLE = [
  'What a recording holds',
  '',
  'While you read, this page notes where your pointer rests and for how long.',
  'A rest of a tenth of a second or more becomes a record.',
  'A record says when the rest began, how long it lasted, and on which line.',
  '',
  'Focus is the share of the last ten seconds that you spent on the text.',
  'Load rises when you go back to earlier lines, as readers do when it gets hard.',
  'Without a camera, feelings are unknown and recorded as neutral.',
  '',
  'With a camera, and only after you agree, the page also follows your eyes.',
  'Images never leave this browser. The positions where you looked are sent.',
  'Calibration shows the error of the camera before you record anything.',
  '',
  'Records go to this Gazeway every two seconds, which chains them by hash.',
  'Gazeway compares the records with how people read, and scores the similarity.',
  'Twenty records over five seconds are enough for a verdict.',
  '',
  'Read at your own pace, and follow the text with the pointer.',
  'A still pointer says little. A pointer that moves by a timer says that nobody is present.',
]
