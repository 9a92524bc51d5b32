module.exports = (output, context) => output.length >= context.config.least;
module.exports.shorter = (output, context) => output.length < context.config.least;
