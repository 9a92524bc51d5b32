exports.default = (output) => output === 'abcd';
exports.named = () => true;
