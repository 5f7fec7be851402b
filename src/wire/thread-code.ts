import { parentPort } from 'node:worker_threads'

/** What a thread says: an answer, or the fields of what was thrown instead, which an error would lose on its way. */
export type Message<Answer> = { answer: Answer } | { fault: { message: string } }

/**
 * Runs a thread of `createThread`: answers its questions until it is to end.
 *
 * @param onEnd what is to be closed then
 */
export function answerQuestions<Question, Answer>(
  answer: (question: Question) => Answer | Promise<Answer>,
  onEnd: () => void = () => {},
): void {
  const port = parentPort
  if (port === null) throw new Error('This is the code of a thread.')
  const answered = async (question: Question): Promise<Message<Answer>> => {
    try {
      return { answer: await answer(question) }
    } catch (error) {
      return { fault: { ...(error as Error), message: (error as Error).message } }
    }
  }
  port.on('message', async (message: { question: Question } | 'end') => {
    if (message !== 'end') return port.postMessage(await answered(message.question))
    onEnd()
    port.close()
  })
}
