/**
 * What ends a process in order: its service manager, Ctrl+C, and the closing of its terminal. `nohup` does not keep the
 * last away: Node takes every signal back as it starts, so that what was ignored before cannot be told.
 */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
