/** Log lines go to standard error: standard output belongs to the protocol. */

let sink = (line) => process.stderr.write(line);
const write = (level, message) => sink(`${level} ${message}\n`);

/** From now on log lines are kept to themselves. */
export const silence = () => {
  sink = () => {};
};

export const logError = (message) => write('ERROR', message);
export const logWarning = (message) => write('WARNING', message);
