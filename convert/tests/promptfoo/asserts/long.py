def get_assert(output, context):
    return len(output) >= context["config"]["least"]


def shorter(output, context):
    return len(output) < context["config"]["least"]
