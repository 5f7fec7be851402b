import { parentPort } from 'node:worker_threads'

/**
 * Reply of a thread: an answer, or the fields of the error thrown. Structured cloning would drop an error's own fields.
 */
export type Message<Answer> = { answer: Answer } | { fault: { message: string } }

/**
 * Entry point of a thread started by `createThread`. Answers questions until it receives the end message.
 *
 * @param onEnd releases the thread's resources at the end
 */
export function answerQuestions<Question, Answer>(
  answer: (question: Question) => Answer | Promise<Answer>,
  onEnd: () => void = () => {},
): void {
  const port = parentPort
  if (port === null) throw new Error('This module only runs inside a worker thread.')
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
