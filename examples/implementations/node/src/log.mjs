/** Log lines go to standard error: standard output belongs to the protocol. */

const write = (level, message) => process.stderr.write(`${level} ${message}\n`);

export const logError = (message) => write('ERROR', message);
export const logWarning = (message) => write('WARNING', message);
