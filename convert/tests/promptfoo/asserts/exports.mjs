export const named = (output) => output === 'abcd';
