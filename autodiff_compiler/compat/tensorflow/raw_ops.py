"""``tf.raw_ops``: some operations under the names that TensorFlow's kernels have, by keyword."""

from .namespace import lazy

__getattr__, __dir__ = lazy(
    __name__,
    {
        "elementwise": "Abs=abs_ Acos=acos Acosh=acosh Add=add AddV2=add Asin=asin Asinh=asinh Atan=atan "
        "Atan2=atan2 Atanh=atanh Ceil=ceil Cos=cos Cosh=cosh Div=divide DivNoNan=divide_no_nan Equal=equal "
        "Erf=erf Exp=exp Expm1=expm1 Floor=floor FloorDiv=floordiv FloorMod=floormod Greater=greater "
        "GreaterEqual=greater_equal Identity=identity Less=less LessEqual=less_equal Log=log Log1p=log1p "
        "Maximum=maximum Minimum=minimum Mul=multiply Neg=negative NotEqual=not_equal Pow=pow RealDiv=divide "
        "Reciprocal=reciprocal Rsqrt=rsqrt Sigmoid=sigmoid Sign=sign Sin=sin Sinh=sinh Sqrt=sqrt Square=square "
        "SquaredDifference=squared_difference Sub=subtract Tan=tan Tanh=tanh Xlogy=xlogy",
        "activations": "Elu=elu L2Loss=l2_loss LogSoftmax=log_softmax Relu=relu Relu6=relu6 Selu=selu "
        "Softmax=softmax Softplus=softplus Softsign=softsign",
        "image": "AdjustContrastv2=adjust_contrast_v2",
        "linear_algebra": "MatMul=matmul",
        "shaping": "ExpandDims=expand_dims Reshape=reshape Squeeze=squeeze Tile=tile Transpose=transpose",
    },
)
