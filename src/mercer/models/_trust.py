"""The types that a model file may hold beside those that skops itself trusts."""

__all__ = ["TRUSTED"]

TRUSTED = (
    # What a table is turned into.
    "mercer.tables._dummies.CategoryDummies",
    "mercer.tables._transformers.DateFeatures",
    "mercer.tables._transformers.FeatureClipper",
    "numpy.dtype",  # of an empty array: nothing is called
    # Estimators, and what they keep after fitting.
    "mercer.classifiers._ise.ISEClassifier",
    "mercer.classifiers._laplacian.LaplacianClassifier",
    "mercer.classifiers._nearest_angle.NearestAngleClassifier",
    "mercer.classifiers._parzen.ParzenClassifier",
    "mercer.discriminants._blocks.BlockState",
    "mercer.discriminants._exact.KernelFisherDiscriminant",
    "mercer.discriminants._kernels.KernelFunction",
    "mercer.discriminants._moments.Moments",
    "mercer.discriminants._path.NodePath",
    "mercer.discriminants._sparse.SparseKernelFisherDiscriminant",
    "mercer.models._capped.CappedClassifier",
    "mercer.models._tuned.TunedClassifier",
    "mercer.projections._laplacian_svc.LaplacianSVC",
    # Trees, whose indices are checked before anything is predicted: see _trees.
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
)
